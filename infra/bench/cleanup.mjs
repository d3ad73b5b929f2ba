/** Ends what was started, last first. */
export class Cleanup {
  #steps = [];
  #done = null;

  add(step) {
    this.#steps.push(step);
  }

  run() {
    this.#done ??= (async () => {
      for (const step of this.#steps.reverse()) {
        await step().catch((error) => console.error(error));
      }
    })();
    return this.#done;
  }
}
