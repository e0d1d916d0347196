export { shellWord } from './commands/shell-words.ts';
export { findStartProblem } from './commands/start-problem.ts';
