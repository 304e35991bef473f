"""What algorithms release, its privacy loss, and audits that search for more"""
