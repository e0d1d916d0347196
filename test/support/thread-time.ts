/** Milliseconds that this thread has computed: whatever else the machine does meanwhile is not counted. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
