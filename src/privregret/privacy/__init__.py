"""What algorithms release, what that costs, and audits that look for more."""
