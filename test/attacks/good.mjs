export default ({ payload }) => ({ message: `good ${payload.word}` });
