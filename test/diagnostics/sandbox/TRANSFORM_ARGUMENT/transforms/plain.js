export default ({ payload: { data }, exact, ...rest }) => ({ message: `${data.id} ${exact(data, 'id')} ${rest.now}` });
