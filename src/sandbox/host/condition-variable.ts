/** Lets somebody wait until something holds; whoever changes what it depends on says so. */
export class ConditionVariable {
  #look: () => void = () => undefined;

  /** Resolves when the condition holds; one wait at a time. */
  wait(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (!holds()) return;
        this.#look = () => undefined;
        resolve();
      };
      this.#look();
    });
  }

  changed(): void {
    this.#look();
  }
}
