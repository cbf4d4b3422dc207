"""What commands do when their options have become a request: all libraries are loaded here."""
