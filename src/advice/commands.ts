/** What is known of command lines: words of a shell, files that are somewhere else, variables that scripts read. */
export { findMisplacedFile, lostFile, type MisplacedFile } from './commands/misplaced-file.ts';
export { environmentReads, isGivenToCommands, scriptVariables } from './commands/script-variables.ts';
export { findShellLine, listText, shellWord } from './commands/shell-words.ts';
export { findStartProblem } from './commands/start-problem.ts';
