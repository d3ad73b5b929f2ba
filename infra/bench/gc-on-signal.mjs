// Loaded into the measured server with --expose-gc: SIGUSR2 collects garbage, so that a memory reading shows what is
// held and not what happens to await collection.
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.();
});
