import { availableParallelism, loadavg } from 'node:os';
import type { Reporter, TestSpecification } from 'vitest/node';

/** Processor seconds and, of two workers, seconds that pass for a file on average; measured on two cores. */
const COSTS = {
  quick: { processor: 0.45, passing: 0.35 },
  guarantee: { processor: 4.6, passing: 3.8 },
  slow: { processor: 5.1, passing: 5 },
} as const;
/** A run of few files is over before anybody wonders. */
const MANY = 40;

/** Says at the start of a long run about how long it takes. */
export default class HowLong implements Reporter {
  onTestRunStart(files: readonly TestSpecification[]): void {
    if (files.length < MANY) return;
    if (files.some(({ moduleId }) => moduleId.includes('/test/lab/endurance/'))) {
      process.stdout.write(`${files.length} files of tests; this takes hours.\n`);
      return;
    }
    let [processor, passing] = [0, 0];
    for (const { moduleId } of files) {
      const cost = COSTS[kindOf(moduleId)];
      processor += cost.processor;
      passing += cost.passing;
    }
    const busy = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
    const besides = busy > 1.5 ? `; this machine is busy, so about ${minutes(passing * busy)}` : '';
    process.stdout.write(
      `${files.length} files of tests, about ${minutes(passing)} on two quiet cores${besides} ` +
        `(${Math.round(processor / 10) * 10} processor seconds).\n`,
    );
  }
}

function kindOf(file: string): keyof typeof COSTS {
  if (file.endsWith('.slow.test.ts')) return 'slow';
  return file.endsWith('.guarantee.test.ts') ? 'guarantee' : 'quick';
}

const minutes = (seconds: number): string => {
  const whole = Math.max(1, Math.ceil(seconds / 60));
  return whole === 1 ? 'a minute' : `${whole} minutes`;
};
