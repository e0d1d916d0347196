/**
 * What the action runs: check, test, and, in a pull request, diff against its base. Every part runs, also after one that
 * failed; the exit code says at the end whether all of them passed. Only what GitHub's runner sets is read:
 * https://docs.github.com/en/actions/reference/variables-reference
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const env = process.env;
const folder = resolve(env.GITHUB_WORKSPACE ?? '.', env.SLUICE_FOLDER || '.');
const sarif = join(env.RUNNER_TEMP ?? folder, 'sluice.sarif');
const config = ['--config', env.SLUICE_CONFIG || 'sluice.yaml'];
/** The longest comment that GitHub takes has 65,536 letters. */
const LONGEST = 60_000;
/** By this line the comment of an earlier push is found, and replaced. */
const MARK = '<!-- sluice: what recorded requests become -->';

let failed = false;

/**
 * Prints a text in which the runner looks for no commands. What programs print is all printed so, on one stream: it may
 * hold what strangers sent. Nothing of it can know the word that ends this.
 */
function print(text) {
  if (text.trim() === '') return;
  const word = randomBytes(16).toString('hex');
  console.log(`::stop-commands::${word}\n${text}\n::${word}::`);
}

/** Prints annotations, and of the text nothing else. */
const annotate = (text) =>
  console.log(
    text
      .split(/[\r\n]+/)
      .filter((line) => /^::(?:error|warning) /.test(line))
      .join('\n'),
  );

/** A text as the value of a command of the runner. */
const value = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Runs a program and prints what it says on standard error. */
function run(program, args) {
  const options = {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  const child = spawnSync(program, args, options);
  print(child.stderr ?? '');
  if (child.error) throw child.error;
  return child;
}

/** Runs a command of Sluice; the command line of the input may hold several words. */
function sluice(...args) {
  const [program, ...words] = (env.SLUICE_COMMAND || 'npx --no-install sluice').split(' ');
  return run(program, [...words, ...args, ...config]);
}

function group(title, work) {
  console.log(`::group::${value(title)}`);
  try {
    work();
  } finally {
    console.log('::endgroup::');
  }
}

const output = (name, value) => appendFileSync(env.GITHUB_OUTPUT, `${name}=${value}\n`);

group('sluice check', () => {
  const strict = env.SLUICE_STRICT === 'true' ? ['--strict'] : [];
  const { status, stdout } = sluice('check', '--format', 'github', ...strict);
  annotate(stdout);
  const report = sluice('check', '--format', 'sarif');
  if (report.stdout) {
    writeFileSync(sarif, report.stdout);
    output('sarif', sarif);
  }
  failed ||= status !== 0;
});

group('sluice test', () => {
  const annotations = join(env.RUNNER_TEMP ?? folder, 'sluice.annotations');
  const { status, stdout } = sluice('test', '--reporter', 'pretty', '--reporter', `github=${annotations}`);
  print(stdout);
  if (existsSync(annotations)) annotate(readFileSync(annotations, 'utf8'));
  failed ||= status !== 0;
});

let comment;
if (env.SLUICE_BASE) {
  group(`sluice diff ${env.SLUICE_BASE}`, () => {
    // A checkout has one commit unless it was asked for more.
    const git = (...args) => run('git', args).status === 0;
    if (!git('cat-file', '-e', `${env.SLUICE_BASE}^{commit}`))
      git('fetch', '--depth=1', 'origin', env.SLUICE_BASE);
    const { status, stdout } = sluice('diff', env.SLUICE_BASE, '--json');
    if (status !== 0) {
      // Files of the base that have errors cannot be compared with; that is no fault of this change.
      console.log('::warning::the base cannot be compared with; see the lines above');
      return;
    }
    const report = JSON.parse(stdout);
    output('changed', report.changes.length);
    comment = describe(report);
    print(comment);
  });
}

/** Text between fences that nothing in it can close. */
function fenced(text, language) {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

/** What changes, in Markdown: each request with before and after, as many as there is room for. */
function describe({ compared, changes }) {
  const head = `${MARK}\n**Sluice: ${changes.length} of ${compared} recorded requests change.**\n`;
  let text = head;
  let shown = 0;
  for (const { name, before, after, difference } of changes) {
    const block = `\n<details><summary><code>${escapeHtml(name)}</code></summary>\n\n${fenced(difference, 'diff')}\n\nBefore:\n\n${fenced(before, 'yaml')}\n\nAfter:\n\n${fenced(after, 'yaml')}\n\n</details>\n`;
    if (text.length + block.length > LONGEST) break;
    text += block;
    shown += 1;
  }
  const rest = changes.length - shown;
  return rest > 0 ? `${text}\n${rest} more: run \`sluice diff ${env.SLUICE_BASE}\`.\n` : text;
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Puts the comment on the pull request, in place of that of an earlier push. */
async function writeComment(body) {
  const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8'));
  const number = event.pull_request?.number;
  if (number === undefined) return;
  const call = async (method, path, content) => {
    const answer = await fetch(`${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}${path}`, {
      method,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${env.SLUICE_TOKEN}`,
        'x-github-api-version': '2022-11-28',
      },
      ...(content && { body: JSON.stringify(content) }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  const earlier = await findComment(call, number);
  if (earlier) await call('PATCH', `/issues/comments/${earlier}`, { body });
  else await call('POST', `/issues/${number}/comments`, { body });
}

/** A stranger who begins a comment so could change what is written into it afterwards. */
const isTrusted = ({ user, author_association: is }) =>
  user?.type === 'Bot' || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(is);

async function findComment(call, number) {
  for (let page = 1; page <= 30; page += 1) {
    const comments = await call('GET', `/issues/${number}/comments?per_page=100&page=${page}`);
    const found = comments.find((each) => each.body?.startsWith(MARK) && isTrusted(each));
    if (found) return found.id;
    if (comments.length < 100) return undefined;
  }
  return undefined;
}

if (comment !== undefined) {
  appendFileSync(env.GITHUB_STEP_SUMMARY, comment);
  if (env.SLUICE_COMMENT === 'true') {
    try {
      await writeComment(comment);
    } catch (error) {
      // The token of a pull request from a fork may not write.
      console.log(
        `::notice::the comment was not written (${value(String(error.message))}); it stands in the summary of this job`,
      );
    }
  }
}
process.exitCode = failed ? 1 : 0;
