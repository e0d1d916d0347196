/** Ten requests at once that ask for as much work as they can: the service refuses them and serves others meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, Row } from '../../support/parts.ts';
import { type AttackedService, startAttacked, TOKEN } from './attacked-service.ts';
import { startProbe } from './probe.ts';

const AT_ONCE = 10;
const ROUNDS = 3;
const MAX_HOLD_MS = 50;
const MAX_HEALTH_MS = 100;
/** Nearly as large as the default limit of a body. */
const SHARED_BYTES = 245_000;

const MAPPINGS = `
- {id: each, match: {path: each}, forEach: items, deliver: false, messageTemplate: "{{shared}} {{item}}"}
- {id: loop, match: {path: loop}, forEach: items, deliver: false, messageTemplate: "{{#each @root.l}}{{#if this}}{{/if}}{{/each}}x"}
- {id: xml, match: {path: xml}, bodyFormat: xml, deliver: false, messageTemplate: "{{json payload}}"}
- {id: form, match: {path: form}, bodyFormat: form, deliver: false, messageTemplate: "{{json payload}}"}
- {id: one, match: {path: one}, deliver: false, messageTemplate: "{{shared}}"}
`;

interface Attack {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

const items = (count: number): readonly number[] => Array.from({ length: count }, () => 1);

function sharedText(path: 'each' | 'one', unit: string, status: number): Attack {
  const shared = unit.repeat(SHARED_BYTES / Buffer.byteLength(unit));
  const times = path === 'each' ? '200 times ' : '';
  return {
    name: `${times}a text of ${unit}`,
    path,
    body: JSON.stringify({ items: items(200), shared }),
    status,
  };
}

const ATTACKS: readonly Attack[] = [
  ...['x', 'é', 'ﷺ', '&amp;', '<', '≮'].map((unit) => sharedText('each', unit, 413)),
  ...['x', 'ﷺ', '<', '&lt'].map((unit) => sharedText('one', unit, 202)),
  {
    name: 'loops',
    path: 'loop',
    body: JSON.stringify({ items: items(200), l: items(100_000) }),
    status: 413,
  },
  {
    name: 'numbers of many digits',
    path: 'each',
    body: `{"items":[${'1e400,'.repeat(199)}1],"shared":[${'1e400,'.repeat(40_000)}1]}`,
    status: 413,
  },
  {
    name: 'one number of many digits',
    path: 'one',
    body: `{"items":[1],"shared":${'9'.repeat(SHARED_BYTES)}}`,
    status: 202,
  },
  {
    name: 'arrays in arrays',
    path: 'one',
    body: `{"shared":${'['.repeat(120_000)}${']'.repeat(120_000)}}`,
    status: 400,
  },
  { name: 'XML of many elements', path: 'xml', body: `<r>${'<a/>'.repeat(60_000)}</r>`, status: 202 },
  {
    name: 'XML of elements in elements',
    path: 'xml',
    body: `<r>${'<a><b><c><d/></c></b></a>'.repeat(9_600)}</r>`,
    status: 202,
  },
  {
    name: 'XML of many names',
    path: 'xml',
    body: `<r>${items(28_000)
      .map((_, index) => `<a${index}/>`)
      .join('')}</r>`,
    status: 202,
  },
  { name: 'XML of attributes', path: 'xml', body: `<r>${'<a b="c"/>'.repeat(24_000)}</r>`, status: 202 },
  { name: 'XML of texts and elements', path: 'xml', body: `<r>${'x<a/>'.repeat(48_000)}</r>`, status: 202 },
  {
    name: 'XML of deep elements',
    path: 'xml',
    body: `<r>${`${'<a>'.repeat(500)}${'</a>'.repeat(500)}`.repeat(70)}</r>`,
    status: 202,
  },
  {
    name: 'XML of attributes of one element',
    path: 'xml',
    body: `<r ${items(24_000)
      .map((_, index) => `a${index}=""`)
      .join(' ')}/>`,
    status: 400,
  },
  { name: 'XML of comments', path: 'xml', body: `<r>${'<!---->'.repeat(35_000)}</r>`, status: 202 },
  { name: 'XML of entities', path: 'xml', body: `<r>${'&amp;'.repeat(48_000)}</r>`, status: 202 },
  { name: 'a form of deep names', path: 'form', body: `a${'[b]'.repeat(80_000)}=1`, status: 400 },
  { name: 'a form of many fields', path: 'form', body: 'a=&'.repeat(80_000), status: 400 },
  {
    name: 'many names',
    path: 'one',
    body: `{"shared":{${items(20_000)
      .map((_, index) => `"n${index}":1`)
      .join(',')}}}`,
    status: 202,
  },
];

const TYPES: Readonly<Record<string, string>> = {
  xml: 'text/xml',
  form: 'application/x-www-form-urlencoded',
};

export const workPart: Part = {
  name: 'work',
  run: async (progress) => {
    const service = await startAttacked({ mappings: MAPPINGS });
    try {
      const rows: Row[] = [];
      for (const attack of ATTACKS) {
        progress(attack.name);
        // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
        rows.push(...(await measure(service, attack)));
      }
      return rows;
    } finally {
      await service.stop();
    }
  },
};

/**
 * How long the event loop is held is seen from outside: the time a request to `/healthz` waits. What the service does
 * is the same in every round; what the machine does meanwhile is not, so the best round counts.
 */
async function measure(service: AttackedService, attack: Attack): Promise<readonly Row[]> {
  // The first of a kind compiles what the others use.
  const answers = new Set([await post(service, attack)]);
  const alone: number[] = [];
  const together: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    alone.push(await slowestProbe(service, async () => void answers.add(await post(service, attack))));
    const ten = async (): Promise<void> => {
      const all = await Promise.all(Array.from({ length: AT_ONCE }, () => post(service, attack)));
      for (const status of all) answers.add(status);
    };
    // oxlint-disable-next-line no-await-in-loop
    together.push(await slowestProbe(service, ten));
  }
  return rowsOf(attack, {
    answers: [...answers],
    holdMs: Math.min(...alone),
    healthMs: Math.min(...together),
  });
}

interface Outcome {
  readonly answers: readonly number[];
  readonly holdMs: number;
  readonly healthMs: number;
}

function rowsOf({ name, status }: Attack, { answers, holdMs, healthMs }: Outcome): readonly Row[] {
  return [
    {
      what: `${name}: answers`,
      figure: answers.join(', '),
      aim: { text: `all ${status}`, met: answers.every((answer) => answer === status) },
    },
    {
      what: `${name}: one holds the event loop`,
      figure: `${holdMs} ms`,
      aim: { text: `at most ${MAX_HOLD_MS} ms`, met: holdMs <= MAX_HOLD_MS },
    },
    {
      what: `${name}: slowest /healthz under ten`,
      figure: `${healthMs} ms`,
      aim: { text: `within ${MAX_HEALTH_MS} ms`, met: healthMs <= MAX_HEALTH_MS },
    },
  ];
}

async function slowestProbe(service: AttackedService, work: () => Promise<void>): Promise<number> {
  const probe = await startProbe(service.port);
  await delay(50);
  await work();
  return Math.round(await probe.stop());
}

async function post({ port }: AttackedService, { path, body }: Attack): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': TYPES[path] ?? 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/${path}`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}
