/**
 * `npm run finding -- CODE [MODULE [ORIGIN]]` makes the page of a new code (in the module `mapping` where none is said) and
 * writes the list of all pages anew; without a code only the list. ORIGIN: of a finding of advice's own, the address of
 * the thread or document it comes from.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fenced, findingIndex, PAGES, readFindingPages } from './finding-pages.ts';

const [code, module = 'mapping', origin] = process.argv.slice(2);
const page = join(PAGES, `${code ?? ''}.md`);
if (code !== undefined && !readFindingPages().some((each) => each.code === code)) {
  writeFileSync(
    page,
    [
      `# ${code}`,
      'What is wrong, and why it matters.',
      ...(origin === undefined ? [] : [`Seen in: <${origin}>`]),
      '## Example',
      fenced('yaml mappings.yaml', 'match: { path: orders }\n'),
      fenced(`text says ${module}`, 'UPDATE_FINDINGS=1 writes what is found\n'),
      '## Not found here',
      fenced('yaml mappings.yaml', 'match: { path: orders }\n'),
      fenced(`text silent ${module}`, ''),
      '',
    ].join('\n\n'),
  );
}
writeFileSync(join(PAGES, 'README.md'), findingIndex());
