import { printSentence } from '../../../base/finding.ts';
import { findProofFault, sayProof } from '../../../authoring/advice/proofs.ts';
import { hooksAddress, type Settings } from '../../../engine/config/config.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import { inflateBody, MAX_BODY_BYTES } from '../../../base/payload/payload.ts';
import type { HookRequest } from '../../../base/request.ts';
import { knownSenders } from '../../../engine/senders/senders.ts';
import { createVerifier, judgeSender } from '../../../engine/verify/verify.ts';
import type { Cli } from '../command-line.ts';
import type { JsonFlags } from '../config-file.ts';
import { printJson, type Verdict } from '../json.ts';
import { readDeliveries } from '../authoring/request-file.ts';
import { originOf } from './send.ts';
import { toWire, type WireRequest } from '../../../engine/hook/facts.ts';
import { CliError } from '../terminal.ts';
import { openWorkbench } from '../authoring/workbench.ts';

/** Judges the deliveries of a request file by the proofs of their paths, and says why one fails; that ends with 1. */
export async function verify(cli: Cli, file: string, flags: JsonFlags): Promise<void> {
  const deliveries = await readDeliveries(cli.terminal, file);
  await using workbench = await openWorkbench(cli.terminal, flags, { needSecrets: true });
  const verdicts: Verdict[] = [];
  for (const { request, rawBody, isTimed } of deliveries) {
    const atMs = isTimed ? request.receivedAt : Date.now();
    verdicts.push(await judge(workbench.generation, request, { rawBody, atMs }));
  }
  if (flags.json === true) printJson(cli.terminal, 'verify', { proofs: verdicts });
  else for (const verdict of verdicts) cli.terminal.out(formatVerdict(verdict));
  if (verdicts.some(({ proved }) => !proved)) cli.setExitCode(1);
}

interface FileArrival {
  readonly rawBody: Buffer | undefined;
  readonly atMs: number;
}

/** Judges as the service does, except for what a file does not have: the sender's address and the hook token. */
async function judge(
  generation: Generation,
  request: HookRequest,
  { rawBody, atMs }: FileArrival,
): Promise<Verdict> {
  const { path } = request;
  const settings = generation.table.settingsOf(path);
  const { verify: proof } = settings;
  if (proof === undefined) {
    throw new CliError(`no mapping of the path "${path}" has verify: its requests need the hook token`);
  }
  const wire = toWire({ request, rawBody }, settings, publicAddress(generation.config.settings));
  const judged = await judgeProof(proof, wire, atMs);
  const common = { path, scheme: proof.settings.scheme, ...notJudged(settings) };
  if (judged.kind === 'proved') return { ...common, proved: true, retired: judged.retired };
  if (!('proof' in judged)) return { ...common, proved: false };
  const {
    file,
    settings: { hooks },
  } = generation.config;
  const senders = await knownSenders(file, hooks);
  const found = findProofFault(judged.proof, judged.request(), judged.refusal, { senders });
  const said = sayProof(found);
  return {
    ...common,
    proved: false,
    diagnosis: { code: found.code, text: said === undefined ? found.code : printSentence(said) },
  };
}

const publicAddress = (settings: Settings): string =>
  hooksAddress(settings.server.publicUrl ?? originOf(settings), settings);

function judgeProof(
  proof: NonNullable<PathSettings['verify']>,
  wire: WireRequest,
  atMs: number,
): ReturnType<typeof judgeSender> {
  const verifier = createVerifier(proof, { clock: () => atMs, fetchJson: fetchIssuer });
  return judgeSender(
    { proof, verifier },
    {
      method: wire.method,
      rawHeaders: wire.rawHeaders,
      isAllowed: () => true,
      refuseToken: () => undefined,
      url: () => wire.url,
      body: () => Promise.resolve(wire.body),
      // A body that is written in the file is not compressed, whatever its headers say.
      unpacked: () =>
        inflateBody(wire.body, wire.headers['content-encoding'], MAX_BODY_BYTES).catch(() => undefined),
      bodyToTry: () => Promise.resolve(wire.body),
    },
  );
}

function notJudged({ allowFrom, requireToken }: PathSettings): Pick<Verdict, 'notJudged'> {
  const parts: readonly string[] = [
    ...(allowFrom === undefined ? [] : ["the sender's address (allowFrom)"]),
    ...(requireToken === true ? ['the hook token (requireToken)'] : []),
  ];
  return parts.length === 0 ? {} : { notJudged: parts };
}

async function fetchIssuer(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: 'manual' });
  return answer.json();
}

function formatVerdict({ path, scheme, proved, retired = 0, diagnosis, notJudged = [] }: Verdict): string {
  const head = `/${path}  ${scheme}  `;
  if (!proved) return `${head}refused (${diagnosis?.code ?? 'unknown'}): ${diagnosis?.text ?? ''}`;
  const besides = notJudged.length === 0 ? '' : `; not judged here: ${notJudged.join(', ')}`;
  const which = retired === 0 ? '' : ` with a retired secret (number ${String(retired + 1)} of the list)`;
  return `${head}proved${which}${besides}`;
}
