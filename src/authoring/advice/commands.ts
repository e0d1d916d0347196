/** What is known of command lines: words of a shell and files that are somewhere else. */
export { shellWord } from './commands/shell-words.ts';
export { findStartProblem } from './commands/start-problem.ts';
