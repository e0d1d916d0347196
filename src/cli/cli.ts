/** Runs one command line and resolves to its exit code: 0 fine, 1 findings or failure, 2 wrong usage. */
export async function runCli(args: readonly string[]): Promise<number> {
  await Promise.resolve();
  process.stdout.write(`sluice ${args.join(' ')}\n`);
  return 0;
}
