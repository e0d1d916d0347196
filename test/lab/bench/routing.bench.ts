import { createRequire } from 'node:module';
import { compileMappings } from '../../../src/engine/mapping/compile.ts';
import type { RoutingTable, Scope } from '../../../src/engine/mapping/mapping.ts';
import type { JsonObject } from '../../../src/base/request.ts';
import { located, scopeOf } from '../../support/mapping-scope.ts';
import type { Part, Row } from '../../support/parts.ts';
import { median } from './figures.ts';

const ROUNDS = 21;
const CALLS = 20_000;

const TEMPLATE = `{{pusher.name}} pushed to {{repository.full_name}} ({{ref}})
{{head_commit.message}}
{{compare}}`;

const BLOCKS = `{{pusher.name}} pushed {{length commits}} commit(s) to {{repository.full_name}}
{{#each commits}}
- {{truncate message 120}} ({{author.name}})
{{/each}}`;

/** A push as GitHub sends it, cut to about 2 KB: what mappings read, and some of what they do not. */
function pushPayload(): JsonObject {
  const require = createRequire(import.meta.url);
  const examples = require('@octokit/webhooks-examples') as { name: string; examples: JsonObject[] }[];
  const push = examples.find(({ name }) => name === 'push')?.examples[0] ?? {};
  const commits = [1, 2, 3].map((n) => ({
    id: `c${n}`,
    message: `change number ${n}`,
    author: { name: 'Ann' },
  }));
  const { ref = '', before = '', after = '', compare = '', pusher = {}, head_commit = null } = push;
  const repository = { ...(push['repository'] as JsonObject) };
  const kept = [
    'id',
    'full_name',
    'name',
    'private',
    'html_url',
    'description',
    'default_branch',
    'pushed_at',
  ];
  const short = Object.fromEntries(Object.entries(repository).filter(([key]) => kept.includes(key)));
  return {
    ref,
    before,
    after,
    compare,
    pusher,
    head_commit,
    commits,
    repository: short,
    sender: push['sender'] ?? {},
  };
}

/** n mappings on one path that differ in their event and repository, the wanted one last. */
function makeTable(n: number, messageTemplate: string): RoutingTable {
  const mappings = Array.from({ length: n }, (_, index) => ({
    id: `m${index}`,
    match: {
      path: 'github',
      when: {
        and: [
          { '===': [{ var: 'headers.x-github-event' }, 'push'] },
          {
            '===': [
              { var: 'repository.full_name' },
              index === n - 1 ? 'Codertocat/Hello-World' : `o/r${index}`,
            ],
          },
        ],
      },
    },
    messageTemplate,
  }));
  const entries = mappings.map((mapping) => ({ value: located(mapping), behaviours: {} }));
  const { table } = compileMappings(entries, {});
  if (table === undefined) throw new Error('the bench mappings do not compile');
  return table;
}

function microsPerCall(run: () => unknown): number {
  const start = performance.now();
  for (let call = 0; call < CALLS; call += 1) run();
  return ((performance.now() - start) * 1000) / CALLS;
}

/**
 * What picking and rendering cost at 1, 100 and 10,000 mappings. Every table is measured in turn, round after round,
 * so that the machine's moods hit all of them; medians are shown.
 */
export const routingPart: Part = {
  name: 'routing',
  run: (progress) => {
    const payload = pushPayload();
    const scope: Scope = scopeOf(payload, { headers: { 'x-github-event': 'push' } });
    const picks = [1, 100, 10_000].map((n) => {
      const table = makeTable(n, TEMPLATE);
      if (table.route(scope)?.id !== `m${n - 1}`) throw new Error(`the wrong mapping was picked among ${n}`);
      return { n, run: () => table.route(scope), micros: [] as number[] };
    });
    const plain = makeTable(1, TEMPLATE).mappings[0]?.text;
    const blocks = makeTable(1, BLOCKS).mappings[0]?.text;
    const renders = [
      { what: 'render text and paths', run: () => plain?.render(scope), micros: [] as number[] },
      { what: 'render loop and helpers', run: () => blocks?.render(scope), micros: [] as number[] },
    ];
    progress(`${ROUNDS} rounds of ${CALLS} calls`);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { run, micros } of [...picks, ...renders]) micros.push(microsPerCall(run));
    }
    const base = median(picks[0]?.micros ?? []);
    const rows: Row[] = picks.map(({ n, micros }) => {
      const own = median(micros);
      const figure = `${own.toFixed(2)} us, ${(own / base).toFixed(2)} times one`;
      const what = `pick among ${n}`;
      return n < 10_000 ? { what, figure } : { what, figure, aim: { text: '1.5', met: own <= 1.5 * base } };
    });
    rows.push(...renders.map(({ what, micros }) => ({ what, figure: `${median(micros).toFixed(2)} us` })));
    return Promise.resolve(rows);
  },
};
