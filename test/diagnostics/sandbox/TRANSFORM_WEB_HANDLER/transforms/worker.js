export default async (request) => {
  const body = await request.json();
  const event = request.headers.get('X-GitHub-Event');
  return new Response(`${event}: ${body.action}`);
};
