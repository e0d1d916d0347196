/**
 * Loaded into a service before it starts: appends, for each fifth of a second, the longest delay of its event loop, and
 * the longest that the thread itself computed between two looks. A delay holds what the machine did meanwhile, too.
 */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env['REDTEAM_LOOP_DELAY'];
if (file !== undefined && isMainThread && process.send === undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let computed = 0;
  let before = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    computed = Math.max(computed, user + system);
    before = process.threadCpuUsage();
  }, 1).unref();
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${delay.max / 1e6} ${computed / 1e3}\n`);
    delay.reset();
    computed = 0;
  }, 200).unref();
}
