/** What is known of command lines: words of a shell and files that are somewhere else. */
export { lostFile } from './commands/misplaced-file.ts';
export { shellWord } from './commands/shell-words.ts';
export { findStartProblem } from './commands/start-problem.ts';
