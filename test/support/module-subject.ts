import type { ModuleSubject } from '../../src/engine/sandbox/facts.ts';
import { placeAt } from '../../src/engine/sandbox/loader/load-modules.ts';
import { printFile } from '../../src/engine/sandbox/loader/scan-sources.ts';
import { originalPlace, readMap } from '../../src/engine/sandbox/loader/source-map.ts';

/** The entry of a transform as the loader gives it to look at. */
export async function moduleOf(
  text: string,
  language: ModuleSubject['language'] = 'esm',
  exports: ModuleSubject['exports'] = ['default'],
): Promise<ModuleSubject> {
  const source = { file: 'transforms/case.js', text };
  const file = { id: source.file, kind: language, original: text, source: text, imports: new Map() } as const;
  const { code = '', map = '' } = (await printFile(file)) ?? {};
  return {
    kind: 'module',
    source,
    language,
    code,
    exports,
    placeOf: (offset, length) => {
      const before = code.slice(0, offset).split('\n');
      const at = originalPlace(readMap(map), before.length - 1, before.at(-1)?.length ?? 0);
      return at && placeAt(source, at.line, at.column, length);
    },
  };
}
