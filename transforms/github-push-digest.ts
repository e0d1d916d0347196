/**
 * A push with two hundred commits is no prompt: this keeps what people read. Commits are grouped by their
 * conventional type, merges and bots left out, paths counted by folder, risky changes named first.
 */
import { defineTransform } from 'sluice';

interface Commit {
  id: string;
  message: string;
  author: { name?: string; username?: string };
  added?: string[];
  modified?: string[];
  removed?: string[];
}

interface Push {
  ref: string;
  forced?: boolean;
  compare?: string;
  repository: { full_name: string; default_branch?: string };
  pusher: { name: string };
  commits: Commit[];
}

const MOST_COMMITS = 20;
const TITLES: Record<string, string> = {
  feat: 'Features',
  fix: 'Fixes',
  perf: 'Speed',
  docs: 'Documentation',
};
const RISKY = [
  /(^|\/)\.env/,
  /\.(pem|key|p12)$/,
  /^\.github\/workflows\//,
  /(^|\/)(package-lock|yarn|pnpm-lock)\b/,
];

export default defineTransform<Push>(({ payload }) => {
  const branch = payload.ref.replace(/^refs\/heads\//, '');
  const commits = payload.commits.filter((commit) => !isNoise(commit));
  // Nothing but merges and bots: nobody needs to hear of it.
  if (commits.length === 0) return null;

  const groups = Object.groupBy(commits.slice(0, MOST_COMMITS), (commit) => titleOf(commit));
  const lines = Object.entries(groups).flatMap(([title, members = []]) => [
    `${title}:`,
    ...members.map(
      (commit) => `- ${firstLine(commit)} (${commit.author.name ?? commit.author.username ?? 'unknown'})`,
    ),
  ]);
  const left = commits.length - MOST_COMMITS;
  const risks = riskyPaths(commits);
  return {
    message: [
      `${payload.pusher.name} pushed ${commits.length} commit(s) to ${branch} of ${payload.repository.full_name}`,
      ...(payload.forced === true ? ['This was a force push.'] : []),
      ...(risks.length > 0 ? [`Look at: ${risks.join(', ')}`] : []),
      ...lines,
      ...(left > 0 ? [`and ${left} more`] : []),
      `Folders: ${countFolders(commits)}`,
      ...(payload.compare === undefined ? [] : [payload.compare]),
    ].join('\n'),
    // A push to another branch can wait for the next periodic check.
    wakeMode: branch === payload.repository.default_branch ? 'now' : 'next-heartbeat',
  };
});

function isNoise(commit: Commit): boolean {
  return (
    /^Merge (branch|pull request|remote)/.test(commit.message) ||
    /\[bot\]$/.test(commit.author.username ?? '')
  );
}

function firstLine(commit: Commit): string {
  const [line] = commit.message.split('\n', 1) as [string];
  return line.replace(/^\w+(\([^)]*\))?!?:\s*/, '').slice(0, 120);
}

function titleOf(commit: Commit): string {
  const type = /^(\w+)(\([^)]*\))?!?:/.exec(commit.message)?.[1] ?? '';
  return TITLES[type] ?? 'Other';
}

function pathsOf(commit: Commit): string[] {
  return [...(commit.added ?? []), ...(commit.modified ?? []), ...(commit.removed ?? [])];
}

function riskyPaths(commits: Commit[]): string[] {
  const paths = commits.flatMap(pathsOf).filter((path) => RISKY.some((pattern) => pattern.test(path)));
  return [...new Set(paths)].slice(0, 5);
}

function countFolders(commits: Commit[]): string {
  const folders = new Map<string, number>();
  for (const path of commits.flatMap(pathsOf)) {
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/')) : '.';
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const most = [...folders].sort((a, b) => b[1] - a[1]).slice(0, 5);
  return most.map(([folder, count]) => `${folder} ${count}`).join(', ') || 'none';
}
