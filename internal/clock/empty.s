// Lets the package declare functions without a body: nanotime is the runtime's.
