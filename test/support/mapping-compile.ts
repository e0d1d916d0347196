import { advise } from '../../src/authoring/advice/advice.ts';
import { formatFindings, parseDocument } from '../../src/base/document/facts.ts';
import { compileMappings, type CompiledMappings } from '../../src/engine/mapping/compile.ts';
import type { CompileOptions, MappingEntry } from '../../src/engine/mapping/compile-options.ts';
import type { Finding } from '../../src/base/document/document.ts';
import type { RoutingTable } from '../../src/engine/mapping/mapping.ts';
import { located, locatedText } from './mapping-scope.ts';

/** Compiles a list of mappings given as data. */
export function compileList(
  mappings: readonly object[],
  options: CompileOptions = {},
  behaviours: MappingEntry['behaviours'] = {},
): CompiledMappings {
  const root = located(mappings);
  const entries = mappings.map((_, index) => ({ value: root.at([index]), behaviours }));
  return compileMappings(entries, options);
}

/** Compiles one mapping given as YAML. */
export function compileYaml(
  text: string,
  options: CompileOptions = {},
  behaviours: MappingEntry['behaviours'] = {},
): CompiledMappings {
  return compileMappings([{ value: locatedText(text), behaviours }], options);
}

/** What is found in a file with one mapping, with what advice says. */
export function adviseFile(
  text: string,
  format: Parameters<typeof parseDocument>[1] = 'yaml',
): readonly Finding[] {
  const { document, findings } = parseDocument({ file: `a.${format}`, text }, format);
  if (document === undefined) return advise(findings);
  return advised(compileMappings([{ value: document.root, behaviours: {} }], {}));
}

/** What was found, with what advice says. */
export function advised({ findings, subjects }: CompiledMappings): readonly Finding[] {
  return advise(findings, subjects);
}

export function tableOf({ table, findings }: CompiledMappings): RoutingTable {
  if (table === undefined) throw new Error(formatFindings(findings));
  return table;
}

export function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ severity, code }) => (severity === 'error' ? code : `${code} (warning)`));
}
