/** A handler of a web framework is told the file to write: what stands there runs as a transform. */
import { expect, test } from 'vitest';
import { scanArguments } from '../../src/sandbox/loader/scan-argument.ts';
import type { GraphFile } from '../../src/sandbox/loader/load-graph.ts';
import type { SourceFinding } from '../../src/sandbox/loader/scan-sources.ts';

const INPUT = {
  payload: { name: 'Ida', state: 'down' },
  headers: { 'x-id': 'f-9', host: 'h' },
  query: { lang: 'de' },
};

async function scan(source: string, kind: GraphFile['kind'] = 'esm'): Promise<SourceFinding | undefined> {
  const file = { id: 'transforms/case.js', kind, original: source, source, imports: new Map() } as const;
  return (await scanArguments([file]))[0];
}

/** The framework, its handler, and the message of the transform that is written in its place. */
const CASES: readonly (readonly [name: string, source: string, message: string, kind?: GraphFile['kind']])[] =
  [
    [
      'Express',
      'export default (req, res) => { if (req.method !== "POST") return res.status(405).end(); res.setHeader("a", "b"); res.status(200).json({ message: req.body.name }); };',
      'Ida',
    ],
    [
      'Express, a route',
      'import express from "express";\nconst app = express();\napp.use(express.json());\napp.post("/x", (req, res) => { res.send(`a (${req.get("X-Id")}) ${req.query.lang}`); });\napp.listen(3000);\nexport default app;',
      'a (f-9) de',
    ],
    [
      'Lambda',
      'exports.handler = async (event, context) => { const body = JSON.parse(event.body || "{}"); if (body.state !== "down") return { statusCode: 204 }; return { statusCode: 200, body: JSON.stringify({ message: `${event.headers["X-Id"]}: ${body.name}` }) }; };',
      'f-9: Ida',
      'commonjs',
    ],
    [
      'Lambda, a callback',
      'exports.handler = (event, context, callback) => { const body = JSON.parse(event.body); callback(null, { statusCode: 200, body: body.name }); };',
      'Ida',
      'commonjs',
    ],
    [
      'Cloudflare',
      'export default { async fetch(request, env) { const b = await request.json(); const lang = new URL(request.url).searchParams.get("lang"); return new Response(`${b.name}\\n${lang}`, { status: 200 }); } };',
      'Ida\nde',
    ],
    [
      'Vercel',
      'export async function POST(request) { const { name } = await request.json(); return Response.json({ message: name }); }',
      'Ida',
    ],
    [
      'Koa',
      'export default async (ctx) => { const { name } = ctx.request.body; ctx.status = 201; ctx.body = { message: name + ctx.get("X-Id") }; };',
      'Idaf-9',
    ],
    [
      'Hono',
      'export default async (c) => { const b = await c.req.json(); return c.json({ text: b.name, kind: "wake", lang: c.req.query("lang") }); };',
      'Ida',
    ],
    [
      'Fastify',
      'const up = (text) => text.replace(/["`]/g, "").toUpperCase();\nexport default async function (request, reply) { return reply.code(200).send({ message: up(request.body.name) }); }',
      'IDA',
    ],
    [
      'Azure',
      'module.exports = async function (context, req) { context.res = { status: 200, body: "Hi " + req.body.name }; };',
      'Hi Ida',
      'commonjs',
    ],
    [
      'Cloud Functions',
      'exports.hello = (req, res) => { const out = { message: req.body.name }; res.json(out); };',
      'Ida',
      'commonjs',
    ],
  ];

test.each(CASES.map(([name, source, message, kind = 'esm']) => [name, source, message, kind] as const))(
  '%s',
  async (_name, source, message, kind) => {
    const finding = await scan(source, kind);
    expect(finding).toMatchObject({ code: 'TRANSFORM_WEB_HANDLER' });
    const [head, ...lines] = finding?.hint?.split('\n') ?? [];
    expect(head).toBe('write the file so:');
    const code = lines.join('\n').replace('module.exports =', 'export default');
    const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      readonly default: (input: object) => { readonly message?: string; readonly text?: string };
    };
    const result = transform(INPUT);
    expect(result.message ?? result.text).toBe(message);
  },
);

test('where a part of it is not known, each place to change is told', async () => {
  const source =
    'export default async (req, res) => { const lead = await find(req.body.id, req.ip); res.json(lead); };';
  const { hint } = (await scan(source)) ?? {};
  expect(hint).toBe(
    'write ({ payload }) in place of (req, res) (line 1); payload in place of req.body (line 1); return { message: … } in place of res.json(lead) (line 1)',
  );
});

test.each([
  'export default (event) => ({ message: event.payload.text });',
  'export const format = (c) => c.body.trim();\nexport const transform = ({ payload }) => ({ message: format(payload) });',
  'export const handler = ({ payload }) => ({ message: payload.text });',
])('%s is none', async (source) => {
  expect(await scan(source)).toBeUndefined();
});
