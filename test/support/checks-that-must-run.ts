/**
 * Where CI has installed a server, the checks that need it must run: `CHECKS_THAT_MUST_RUN` names such servers, with
 * commas between them.
 * @throws where there is a reason not to use one of them
 */
export function refuseMissing(server: string, reason: string | undefined): void {
  const needed = process.env['CHECKS_THAT_MUST_RUN']?.split(',') ?? [];
  if (reason !== undefined && needed.includes(server)) throw new Error(reason);
}
