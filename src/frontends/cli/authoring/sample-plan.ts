import { printSentence } from '../../../base/finding.ts';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sendersOf, unknownSignature, withStandIn } from '../../../authoring/advice/proof-headers.ts';
import { printYaml } from '../../../base/document/document.ts';
import { inWords, parseDocument } from '../../../base/document/facts.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { sampleOf } from '../../../authoring/golden/golden.ts';
import { createHookRequest } from '../../../engine/hook/hook.ts';
import { announcedFormat, type BodyFormat } from '../../../base/payload/payload.ts';
import { fileOf, findSender, type Sender } from '../../../engine/senders/senders.ts';
import { withoutText } from './recorder.ts';
import {
  fieldInTemplate,
  firstMappings,
  idOf,
  kindOf,
  type SentSample,
} from '../../../authoring/workbench/workbench.ts';
import { challengeOf, proofOf, type Places, type PlannedFile } from '../setup/add-plan.ts';
import { askFor } from '../setup/ask.ts';
import { readDeliveries } from './request-file.ts';
import { withSchemaLine } from '../../../base/own-package.ts';
import { CliError, type Terminal } from '../terminal.ts';

/** First mappings made from requests, and the requests as their golden case. */
export interface SamplePlan {
  readonly files: readonly PlannedFile[];
  /** The sender, with the proof that the requests carry; `verify` is absent where they carry none. */
  readonly sender: Omit<Sender, 'name'>;
  readonly notes: readonly string[];
  readonly firstCase: string;
}

export interface SamplePlanOptions {
  readonly name: string;
  /** What is known of the sender: its file, or the name that was given. */
  readonly sender?: Sender | undefined;
  readonly as?: string | undefined;
  /** All known senders, those of the user first. */
  readonly known: readonly Sender[];
  readonly places: Places;
  readonly secrets: readonly string[];
}

/** Makes mappings from request files, or from payloads as JSON or YAML. */
export async function planSample(
  terminal: Terminal,
  options: SamplePlanOptions & { readonly samples: readonly string[] },
): Promise<SamplePlan> {
  const { name, samples: files, places, secrets } = options;
  const samples = (await Promise.all(files.map((file) => readSamples(terminal, file)))).flat();
  const sender = await senderOf(terminal, samples, options);
  const isGuess = !('name' in sender) && sender.verify !== undefined;
  return planFrom(name, { samples, sender, places, secrets, isGuess });
}

export async function planExamples(
  terminal: Terminal,
  { name, sender, places, secrets }: SamplePlanOptions & { readonly sender: Sender },
): Promise<SamplePlan> {
  const samples = await Promise.all(
    (sender.examples ?? []).map(async (each) => {
      if ('file' in each) return readSamples(terminal, fileOf(sender, each.file));
      return [{ headers: each.headers ?? {}, query: each.query ?? {}, payload: each.body }];
    }),
  );
  return planFrom(name, { samples: samples.flat(), sender, places, secrets });
}

/** Finds the sender by the file or the name that is given, else by headers. Where several fit, the person is asked. */
async function senderOf(
  terminal: Terminal,
  samples: readonly SentSample[],
  { name, sender, known, as }: SamplePlanOptions,
): Promise<SamplePlan['sender']> {
  const chosen = as === undefined ? sender : known.find((each) => each.name === as);
  if (as !== undefined && chosen === undefined) throw new CliError(`there is no sender "${as}"`, 2);
  if (chosen !== undefined) return chosen;
  const headers = Object.fromEntries(
    Object.entries(samples[0]?.headers ?? {}).map(([header, text]) => [
      header.toLowerCase(),
      withStandIn(text),
    ]),
  );
  const fitting = sendersOf(headers);
  const [first, ...others] = fitting;
  if (first === undefined) {
    const verify = unknownSignature(headers);
    return { title: name, ...(verify === undefined ? {} : { verify }) };
  }
  if (others.length === 0) return first;
  const titles = inWords(
    fitting.map(({ title }) => title),
    'or',
  );
  const names = fitting.map((each) => each.name);
  const answer = await askFor(terminal, '--as', `${titles} prove themselves so. Who is it?`, names);
  return findSender(answer) ?? first;
}

async function readSamples(terminal: Terminal, file: string): Promise<readonly SentSample[]> {
  if (/\.request\.(ya?ml|json)$/.test(file)) {
    const deliveries = await readDeliveries(terminal, file);
    return deliveries.map(({ request: { headers, query, payload } }) => ({ headers, query, payload }));
  }
  const text = await readFile(resolve(terminal.cwd, file), 'utf8').catch(() => {
    throw new CliError(`${file} cannot be read`, 2);
  });
  const format = /\.json5?$/.test(file) || /^\s*[[{]/.test(text) ? 'json' : 'yaml';
  const { document, findings } = parseDocument({ file, text }, format);
  if (document === undefined) {
    throw new CliError(
      `${file} is neither JSON nor YAML: ${findings[0] === undefined ? 'it cannot be read' : printSentence(findings[0].message)}`,
    );
  }
  return [{ headers: {}, query: {}, payload: document.root.value as JsonValue }];
}

interface Given {
  readonly samples: readonly SentSample[];
  readonly sender: SamplePlan['sender'];
  readonly places: Places;
  readonly secrets: readonly string[];
  /** Whether the proof was made from the form of a header alone. */
  readonly isGuess?: boolean;
}

function planFrom(name: string, { samples, sender, places, secrets, isGuess = false }: Given): SamplePlan {
  const receivedAt = Date.parse('2026-01-01T00:00:00Z');
  const written = samples.map((sample) =>
    sampleOf(createHookRequest({ path: name, ...sample, receivedAt }), secrets),
  );
  const leftOut = [...new Set(written.flatMap((one) => one.leftOut))];
  const id = idOf(samples, sender);
  const field = kindOf(samples, sender);
  const formats = new Set(samples.map(formatOf));
  const [format = 'json'] = formats;
  const ofPath = [
    `  verify: ${proofOf(name, sender)}`,
    ...(format === 'json' ? [] : [`  bodyFormat: ${format}`]),
    ...challengeOf(name, sender).map((line) => `  ${line}`),
    ...(field === undefined ? [] : ['  otherwise: skip']),
  ];
  const idPath = 'path' in id ? id.path : '';
  const idInTemplate = idPath.startsWith('headers.') ? idPath : fieldInTemplate(idPath.split('.'));
  const ofEach = 'path' in id ? [`  dedupe: { key: '{{${idInTemplate}}}', ttlSeconds: 86400 }`] : [];
  if (samples.length === 0) throw new CliError('there is no payload to make a mapping from', 2);
  const { kinds } = sender;
  const made = firstMappings({ id: name, path: name, samples, field, kinds, ofPath, ofEach });
  const text = [...MAPPING_HEAD, ...made].join('\n');
  return {
    sender,
    notes: [
      ...('why' in id ? [`No dedupe was written: ${id.why}.`] : []),
      ...(isGuess ? [notSeen(sender)] : []),
      ...(formats.size > 1 ? [severalFormats(formats)] : []),
      ...(leftOut.length === 0 ? [] : [`The sample was written${withoutText(leftOut)}.`]),
    ],
    firstCase: `${name}/sample`,
    files: [
      { path: join(places.mappings, `${name}.yaml`), text: `${withSchemaLine(text, places.mappings)}\n` },
      { path: join(places.cases, name, 'sample.request.yaml'), text: caseText(written) },
    ],
  };
}

const notSeen = ({ verify }: SamplePlan['sender']): string =>
  `What ${verify !== undefined && 'header' in verify ? verify.header : 'it'} signs cannot be seen: it was taken to be the body. If the first request is refused, "sluice explain ID" writes the whole verify.`;

/** A payload without headers is JSON or YAML, and one whose headers say text may be JSON. */
const formatOf = ({ headers, payload }: SentSample): BodyFormat => {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const format = announcedFormat(named) ?? 'json';
  return format === 'text' && typeof payload !== 'string' ? 'json' : format;
};

const severalFormats = (formats: ReadonlySet<BodyFormat>): string =>
  `The samples are sent as ${inWords([...formats])}, and a path reads one format, here the first: run "sluice add" again under another name with those of the other.`;

/** Writes a case as `sluice dev --record` does: without credentials and headers of the transport. */
function caseText(written: readonly { readonly content: JsonObject }[]): string {
  const [first, ...others] = written.map(({ content }) => content);
  return printYaml(first !== undefined && others.length === 0 ? first : { deliveries: [first, ...others] });
}

const MAPPING_HEAD = [
  '# yaml-language-server: $schema=mapping.schema.json',
  '#',
  '# Made from payloads by "sluice add". Take out what you do not need, and say in "instructions" what the agent should',
  '# do. "sluice explain" shows what the samples become.',
  '',
];
