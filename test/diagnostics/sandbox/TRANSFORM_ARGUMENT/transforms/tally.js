// One line for each question of the form.
export default function summarize(submission) {
  const fields = submission.data?.fields ?? [];
  return { message: fields.map((field) => field.label).join('\n') };
}
