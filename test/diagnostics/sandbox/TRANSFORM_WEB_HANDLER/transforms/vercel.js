// Writes the answers of a form as lines of text.
export default async function handler(req, res) {
  const { definition, answers } = req.body.form_response;
  const lines = answers.map((answer) => `${answer.field.id} ${answer.text}`);
  return { message: `${req.headers['x-form']} ${definition.title}\n${lines.join('\n')}` };
}
