/** A handler of a web framework or of a cloud function is told what a transform is in its place. */
import { expect, test } from 'vitest';
import { advise } from '../../src/advice/advice.ts';
import type { Finding } from '../../src/finding.ts';
import type { ModuleSubject } from '../../src/sandbox/facts.ts';
import { moduleOf } from '../support/module-subject.ts';
import { said } from '../support/said.ts';

async function scan(source: string, language?: ModuleSubject['language']): Promise<Finding | undefined> {
  return advise([], [await moduleOf(source, language)])[0];
}

test.each<[string, string, ModuleSubject['language']?]>([
  [
    'Express',
    'export default (req, res) => { if (req.method !== "POST") return res.status(405).end(); res.setHeader("a", "b"); res.status(200).json({ message: req.body.name }); };',
  ],
  [
    'Express, a route',
    'import express from "express";\nconst app = express();\napp.use(express.json());\napp.post("/x", (req, res) => { res.send(`a (${req.get("X-Id")}) ${req.query.lang}`); });\napp.listen(3000);\nexport default app;',
  ],
  [
    'Lambda',
    'exports.handler = async (event, context) => { const body = JSON.parse(event.body || "{}"); if (body.state !== "down") return { statusCode: 204 }; return { statusCode: 200, body: JSON.stringify({ message: `${event.headers["X-Id"]}: ${body.name}` }) }; };',
    'commonjs',
  ],
  [
    'Lambda, a callback',
    'exports.handler = (event, context, callback) => { const body = JSON.parse(event.body); callback(null, { statusCode: 200, body: body.name }); };',
    'commonjs',
  ],
  [
    'Cloudflare',
    'export default { async fetch(request, env) { const b = await request.json(); const lang = new URL(request.url).searchParams.get("lang"); return new Response(`${b.name}\\n${lang}`, { status: 200 }); } };',
  ],
  [
    'Vercel',
    'export async function POST(request) { const { name } = await request.json(); return Response.json({ message: name }); }',
  ],
  [
    'Koa',
    'export default async (ctx) => { const { name } = ctx.request.body; ctx.status = 201; ctx.body = { message: name + ctx.get("X-Id") }; };',
  ],
  [
    'Hono',
    'export default async (c) => { const b = await c.req.json(); return c.json({ text: b.name, kind: "wake", lang: c.req.query("lang") }); };',
  ],
  [
    'Fastify',
    'const up = (text) => text.replace(/["`]/g, "").toUpperCase();\nexport default async function (request, reply) { return reply.code(200).send({ message: up(request.body.name) }); }',
  ],
  [
    'Azure',
    'module.exports = async function (context, req) { context.res = { status: 200, body: "Hi " + req.body.name }; };',
    'commonjs',
  ],
  [
    'Cloud Functions',
    'exports.hello = (req, res) => { const out = { message: req.body.name }; res.json(out); };',
    'commonjs',
  ],
])('%s', async (_name, source, kind) => {
  const found = await scan(source, kind);
  expect(found?.code).toBe('TRANSFORM_WEB_HANDLER');
  // The first place where it reads or answers stands within the function, and not at its beginning.
  expect(source.slice(found?.at?.start)).toMatch(
    /^(?:JSON\.parse\()?(?:req|request|res|reply|event|ctx|c|context)\b|^return /,
  );
  const head = kind === 'commonjs' ? 'module.exports =' : 'export default';
  expect(said(found?.hint)).toContain(`write ${head} ({ payload, headers, query }) => { … }`);
});

test.each([
  'export default (event) => ({ message: event.payload.text });',
  'export const format = (c) => c.body.trim();\nexport const transform = ({ payload }) => ({ message: format(payload) });',
  'export const handler = ({ payload }) => ({ message: payload.text });',
])('%s is none', async (source) => {
  expect(await scan(source)).toBeUndefined();
});
