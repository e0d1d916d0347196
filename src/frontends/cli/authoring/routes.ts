import {
  describeRoutes,
  type HookRoutes,
  type Overlap,
  type Route,
} from '../../../authoring/advice/routes.ts';
import { findCases } from '../../../authoring/golden/golden.ts';
import { inWords } from '../../../base/document/facts.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder, type JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import { formatTable } from '../terminal.ts';
import { openWorkbench } from './workbench.ts';

/** Prints the table of mappings as requests meet it, hook name by hook name. */
export async function routes(cli: Cli, flags: JsonFlags): Promise<void> {
  const { terminal } = cli;
  await using workbench = await openWorkbench(terminal, flags);
  const { generation } = workbench;
  const { cases } = await findCases(findCasesFolder(terminal, flags, undefined));
  const hooks = await describeRoutes(generation.table, {
    samples: cases.flatMap(({ name, deliveries }) => deliveries.map(({ request }) => ({ name, request }))),
    unmatched: generation.config.settings.hooks.unmatched,
    evaluate: (request) => generation.evaluate(request),
  });
  if (flags.json === true) printJson(terminal, 'routes', { hooks });
  else terminal.out(clearControl(hooks.map(hookText).join('\n\n') || 'there is no mapping'));
}

function hookText({ name, mappings, overlaps, notDecided, only, untaken, otherwise }: HookRoutes): string {
  const rows = mappings.map((route, index) => [
    `${index + 1}`,
    route.id,
    route.action,
    route.at,
    takesText(route),
  ]);
  const left = otherwise === 'skip' ? 'is answered 204 and makes nothing' : 'is answered 404';
  const limits = Object.entries(only).map(
    ([field, texts]) => `any other ${field} than ${inWords(texts, 'or')} ${left}`,
  );
  return [
    name === undefined ? 'any other hook name' : `hook name ${name}`,
    formatTable(['', 'mapping', 'action', 'at', 'takes'], rows),
    ...overlaps.map(overlapText),
    ...untaken.map(({ kind, cases }) => {
      const words = Object.entries(kind).map(([field, text]) => `${field} ${JSON.stringify(text)}`);
      return `nothing takes ${inWords(words)}${words.length === 0 ? '' : ': '}${inWords(cases)}; it ${left}`;
    }),
    ...limits,
    ...(notDecided.length === 0
      ? []
      : [
          `not decided whether both can take one request: ${notDecided.map((pair) => pair.join(' and ')).join('; ')}`,
        ]),
  ].join('\n');
}

function takesText({ source, condition, shadowedBy, disabled, continue: continues }: Route): string {
  const asked = [...(source === undefined ? [] : [`source is ${JSON.stringify(source)}`]), condition ?? ''];
  const words = asked.filter((each) => each !== '').join(' and ') || 'all';
  if (disabled === true) return `nothing, as it is turned off: ${words}`;
  if (continues === true) return `${words}; those after it are asked as well`;
  return shadowedBy === undefined ? words : `nothing, as ${shadowedBy} takes it all before: ${words}`;
}

function overlapText({ first, second, case: known, request, taken }: Overlap): string {
  const { path: _path, ...content } = request;
  const shown = known ?? JSON.stringify(content);
  const who = taken === first ? `${first}, which comes first` : taken;
  return `${first} and ${second} both take ${shown}: it becomes that of ${who}`;
}
