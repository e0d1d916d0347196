/** Paths whose sender is asked for what it could not deliver: whom, about what, and what has to fit for that. */
import { quoted, say, type Sentence } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import type { Finding } from '../../base/document/document.ts';
import {
  type CompiledMapping,
  type RecoverSettings,
  type RoutingTable,
  withoutPayload,
} from '../../engine/mapping/mapping.ts';
import {
  type AskedInterface,
  InterfaceError,
  placeOf,
  placesText,
  readApi,
  type Sender,
  type Webhooks,
} from '../../engine/senders/senders.ts';

/** Three days. */
const MAX_AGE_SECONDS = 259_200;

/** What is asked for a path, all but the token. */
export interface PathRecovery {
  readonly path: string;
  readonly settings: RecoverSettings;
  readonly maxAgeMs: number;
  readonly sender: Sender & {
    readonly deliveries: NonNullable<Sender['deliveries']>;
    readonly webhooks: Webhooks;
  };
  readonly asked: Omit<AskedInterface, 'token'>;
  /** Where a request has the id of its event. */
  readonly event: readonly string[];
  /** The mappings under whose `dedupe` an event may have been taken. */
  readonly dedupedBy: readonly string[];
}

export type Problem = readonly [message: Sentence, hint: Sentence, at?: CompiledMapping['at']];

export interface PathRecoveries {
  readonly recoveries: ReadonlyMap<string, PathRecovery>;
  readonly findings: readonly Finding[];
}

/** Asks for the senders only where a path has the key. */
export function findRecoveries(
  table: RoutingTable | undefined,
  senders: () => readonly Sender[],
): PathRecoveries {
  const recoveries = new Map<string, PathRecovery>();
  const findings = [...(table?.paths ?? [])].flatMap((path): readonly Finding[] => {
    const settings = table?.settingsOf(path).recover;
    if (table === undefined || settings === undefined) return [];
    const problems: Problem[] = [];
    const recovery = recoveryOf({ path, table, settings, senders: senders() }, problems);
    if (recovery !== undefined && problems.length === 0) recoveries.set(path, recovery);
    const { settingsAt } =
      table.mappings.find((each) => each.match.path === path && each.settingsAt?.recover) ?? {};
    return problems.map(([message, hint, at = settingsAt?.recover]) => ({
      severity: 'error',
      code: 'RECOVER_SETTINGS',
      message,
      hint,
      ...defined({ at }),
    }));
  });
  return { recoveries, findings };
}

interface AskedPath {
  readonly path: string;
  readonly table: RoutingTable;
  readonly settings: RecoverSettings;
  readonly senders: readonly Sender[];
}

const namesOf = ({ path, table, settings }: AskedPath): readonly [string, string] => [
  settings.sender ?? table.settingsOf(path).verify?.settings.scheme ?? path,
  path,
];

/** Finds whose events come to a path: as `recover` says, or its proof, or its name. */
export const senderOf = (given: AskedPath): Sender | undefined =>
  namesOf(given).flatMap((named) => given.senders.find(({ name }) => name === named) ?? [])[0];

/** Returns what the sender of a path is asked with; undefined, or of no use, where there are problems. */
export function recoveryOf(given: AskedPath, problems: Problem[]): PathRecovery | undefined {
  const { path, table, settings } = given;
  const sender = senderOf(given);
  const title = quoted(sender?.title ?? namesOf(given)[0]);
  const { deliveries, webhooks, interface: face, id, health } = sender ?? {};
  if (!sender || !deliveries || !webhooks || !face || id === undefined) {
    problems.push(
      sender === undefined
        ? [
            say`recover does not know whose log to ask: there is no sender "${title}"`,
            say`add sender: NAME to recover, such as github`,
          ]
        : [
            say`${title} keeps no log that can be asked`,
            say`remove recover: what ${title} could not deliver is known to it alone`,
          ],
    );
    return undefined;
  }
  const { keepsSeconds: keeps, triesSeconds: tries = 0 } = deliveries;
  const { target, maxAgeSeconds = MAX_AGE_SECONDS + tries } = settings;
  const place = placeOf(face, target);
  if (place === undefined)
    problems.push(
      face.places === undefined
        ? [say`recover.target: the log of ${title} is of the account`, say`remove target`]
        : [
            say`recover.target has to say whose log of ${title} is asked${target === undefined ? '' : `, found ${target}`}`,
            say`write target: ${quoted(placesText(face))}`,
          ],
    );
  if (maxAgeSeconds > keeps)
    problems.push([
      say`recover.maxAgeSeconds is ${maxAgeSeconds}, and ${title} keeps its log for ${keeps} seconds`,
      say`write maxAgeSeconds: ${keeps} or less`,
    ]);
  if (maxAgeSeconds <= tries)
    problems.push([
      say`recover.maxAgeSeconds is ${maxAgeSeconds}, and what ${title} tries by itself is awaited for ${tries} seconds`,
      say`remove maxAgeSeconds: it is then ${MAX_AGE_SECONDS + tries}`,
    ]);
  if (settings.reactivate === true && health?.reactivate === undefined)
    problems.push([
      say`recover.reactivate: a webhook of ${title} can only be switched on there`,
      say`remove reactivate: the log and /readyz say it where the webhook is switched off`,
    ]);
  const takers = table.mappings.filter(
    ({ match, action }) =>
      action !== 'skip' && (match.path === path || (match.path === undefined && !table.isOwned(path))),
  );
  for (const mapping of takers)
    checkDedupe(mapping, { id, seconds: Math.min(maxAgeSeconds, keeps) }, problems);
  const api = apiOf(settings.api ?? face.api, problems);
  if (api === undefined || place === undefined) return undefined;
  return {
    path,
    settings,
    maxAgeMs: maxAgeSeconds * 1000,
    sender: { ...sender, deliveries, webhooks },
    asked: { title: sender.title, interface: face, api, target, place },
    event: (id.startsWith('headers.') ? id : `payload.${withoutPayload(id)}`).split('.'),
    dedupedBy: takers.map((mapping) => mapping.id),
  };
}

function apiOf(address: string, problems: Problem[]): URL | undefined {
  try {
    return readApi(address);
  } catch (error) {
    if (!(error instanceof InterfaceError)) throw error;
    problems.push([say`recover.api: ${quoted(error.message)}`, say`write the address with https://`]);
    return undefined;
  }
}

/** Without it a mapping would begin the work of an event twice: nothing tells it that the event was taken. */
function checkDedupe(
  { id: name, at, dedupe }: CompiledMapping,
  { id, seconds }: { readonly id: string; readonly seconds: number },
  problems: Problem[],
): void {
  const key = dedupe === undefined || dedupe.key === 'body' ? '' : dedupe.key.source.replaceAll(/\s+/g, ' ');
  const field = `(?:payload\\.)?${id.replaceAll('.', String.raw`\.`)}`;
  const isById = new RegExp(`^\\{{2,3} ?(?:default )?${field}(?: [\\w.-]+)? ?\\}{2,3}$`).test(key);
  const hint = say`write dedupe: {key: '${quoted(`{{${id}}}`)}', ttlSeconds: ${seconds}} in the mapping`;
  if (!isById)
    problems.push([
      say`recover needs dedupe by the id of the event in the mapping ${name}, so that nothing is begun twice`,
      hint,
      at,
    ]);
  else if (dedupe !== undefined && dedupe.ttlSeconds < seconds)
    problems.push([
      say`dedupe of the mapping ${name} ends after ${dedupe.ttlSeconds} seconds, and recover takes events that are up to ${seconds} old`,
      hint,
      at,
    ]);
}
