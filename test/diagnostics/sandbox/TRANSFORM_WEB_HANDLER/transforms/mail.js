// A body that has a field body.
export default ({ payload: event }) => ({ message: event.body });
