import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest; measured, and by the beginning of their path below `test/`. */
const LONGEST = [
  'engine/storage/postgres',
  'engine/storage/sqlite',
  'authoring/explanation/mistakes',
  'service/mail/hostile',
  'service/gateway/away',
  'service/startup/torture',
  'service/mail/',
  'frontends/console/',
  'engine/sandbox/attacks',
  'service/gateway/',
  'findings/findings',
];

/**
 * Begins with the longest files, so that at the end of the suite no worker goes on alone with one of them. By itself
 * vitest begins with the largest files, and some of the longest are a few lines that call a shared suite.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}

function rank(file: string): number {
  const place = LONGEST.findIndex((name) => file.includes(`/test/${name}`));
  if (place >= 0) return place;
  return /\.(?:guarantee|slow)\./.test(file) ? LONGEST.length : LONGEST.length + 1;
}
