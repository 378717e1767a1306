// Lets the package declare functions without a body: they are the runtime's.
