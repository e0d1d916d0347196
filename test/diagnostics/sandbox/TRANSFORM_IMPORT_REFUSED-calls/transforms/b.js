export default async ({ payload }) => {
  await new Promise((resolve) => setTimeout(resolve, 5000));
  await fetch('https://hooks.slack.com/services/a/b', {
    method: 'POST',
    body: JSON.stringify({ text: payload.title }),
  });
  return null;
};
