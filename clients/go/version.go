package clew

// Version is that of this client, which it names to the server.
const Version = "0.1.0"
