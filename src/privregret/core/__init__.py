"""What all algorithms share: their contract, compilation, streams, the store, checks"""
