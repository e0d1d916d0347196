/* The listing of requests, with what their explanation says that is to be written, in short. */
import { shorten } from '../document/document.ts';
import { explainStored, shortHints, type Explainer } from '../explanation/explanation.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import {
  findStoredRequest,
  type DecisionRecord,
  type KeptRequest,
  type Storage,
} from '../storage/storage.ts';
import type { Cli } from './command-line.ts';
import { printListing, requestsListing, type Listing } from './listings.ts';
import { printFrom, type ListFlags } from './store-tasks.ts';
import { LateWorkbench } from './workbench.ts';

/** Requests that are explained for their notes, the newest, and for how long at most. */
const MAX_EXPLAINED = 30;
const MAX_MS = 3_000;
/** Letters of a hint that is told again. */
const MAX_FIRST = 30;

/** By the id of a request. */
type Hints = ReadonlyMap<string, Told>;

interface Told {
  readonly hints: readonly string[];
  /** Whether more is known of the key by which it was a repeat than the decision says. */
  readonly isKeyTold: boolean;
}

/** Prints the last requests. */
export async function listRequests(cli: Cli, flags: ListFlags): Promise<void> {
  await printFrom(cli, flags, async ({ storage, options, keepRequests }) => {
    const rows = await requestsListing.fetch(storage, options);
    const bench = new LateWorkbench(cli.terminal, flags);
    try {
      const hints = options.text ? await findHints(rows, { storage, bench, keepRequests }) : NONE;
      const shown = await printListing(withHints(rows, hints), storage, cli.terminal, options);
      return shown.length;
    } finally {
      await bench.close();
    }
  });
}

const NONE: Hints = new Map();

function withHints(rows: readonly DecisionRecord[], hints: Hints): Listing<DecisionRecord> {
  const told = new Set<string>();
  const notesOf = (requestId: string): readonly string[] =>
    (hints.get(requestId)?.hints ?? []).map((hint) => {
      const isKnown = told.has(hint);
      told.add(hint);
      return isKnown ? `hint as above: ${firstWords(hint)}` : `hint: ${hint}`;
    });
  return {
    ...requestsListing,
    fetch: () => Promise.resolve(rows),
    toJson: (row, text) => {
      const own = hints.get(row.requestId)?.hints ?? [];
      return { ...requestsListing.toJson(row, text), ...(own.length === 0 ? {} : { hints: own }) };
    },
    toCells: (row, now) => {
      // A warning says more than its code.
      const { warnings, ...rest } = row;
      const isTold = warnings !== undefined && hints.has(row.requestId);
      const cells = requestsListing.toCells(withoutAdvice(isTold ? rest : row, hints), now);
      const notes = [...new Set(notesOf(row.requestId)), cells.at(-1) ?? ''].filter(Boolean);
      return [...cells.slice(0, -1), notes.join('; ')];
    },
  };
}

/** Which of several hints it is: its setting, or how it begins. */
function firstWords(hint: string): string {
  const [setting = ''] = /^[A-Za-z][\w.]*(?=: )/.exec(hint) ?? [];
  return setting === '' ? shorten(hint, MAX_FIRST) : setting;
}

/** The advice on any repeat says less than the key to write. */
function withoutAdvice(row: DecisionRecord, hints: Hints): DecisionRecord {
  const { note, requestId } = row;
  const isTold = hints.get(requestId)?.isKeyTold === true;
  return isTold && note !== undefined
    ? { ...row, note: note.replace(/; if it was a new event, [^;]*/, '') }
    : row;
}

interface Sources {
  readonly storage: Storage;
  readonly bench: LateWorkbench;
  readonly keepRequests: Parameters<typeof explainStored>[1]['keepRequests'];
}

/** Of requests that were kept: the others say what is known of them already. */
async function findHints(
  rows: readonly DecisionRecord[],
  { storage, bench, keepRequests }: Sources,
): Promise<Hints> {
  const hints = new Map<string, Told>();
  const taken = new Set(
    rows.filter(({ outcome }) => outcome === 'accepted').map(({ requestId }) => requestId),
  );
  const kept = (await storage.listKeptRequests(MAX_EXPLAINED)).filter(({ requestId }) =>
    taken.has(requestId),
  );
  const opened = kept.length === 0 ? undefined : await bench.openQuietly();
  if (opened === undefined) return hints;
  const explainer = rememberingExplainer(opened);
  const endAt = Date.now() + MAX_MS;
  for (const { requestId } of kept) {
    if (Date.now() > endAt) break;
    // Transforms run one after the other.
    // oxlint-disable-next-line no-await-in-loop
    const stored = await findStoredRequest(storage, requestId);
    if (stored === undefined) continue;
    const others: readonly KeptRequest[] = kept.filter((each) => each.requestId !== requestId);
    // oxlint-disable-next-line no-await-in-loop
    const told = await explainStored(stored, { keepRequests, others, explainer });
    const isKeyTold = told.settings.some(({ setting }) => setting === 'dedupe.key');
    hints.set(requestId, { hints: shortHints(told), isKeyTold });
  }
  return hints;
}

/** Judges each request once, however often it is compared with others. */
function rememberingExplainer({ generation, diagnostics }: Explainer): Explainer {
  const judged = new Map<string, Evaluation | Promise<Evaluation>>();
  const { config, table } = generation;
  const evaluate = (request: HookRequest, detail: 'full'): Evaluation | Promise<Evaluation> => {
    const known = judged.get(request.id) ?? generation.evaluate(request, detail);
    judged.set(request.id, known);
    return known;
  };
  return { generation: { config, table, evaluate }, diagnostics };
}
