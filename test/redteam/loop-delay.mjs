/** Loaded into a service before it starts: appends the longest delay of its event loop in each fifth of a second. */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env['REDTEAM_LOOP_DELAY'];
if (file !== undefined && isMainThread && process.send === undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${delay.max / 1e6}\n`);
    delay.reset();
  }, 200).unref();
}
