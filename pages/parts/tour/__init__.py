"""The guided tour of the finished example."""
