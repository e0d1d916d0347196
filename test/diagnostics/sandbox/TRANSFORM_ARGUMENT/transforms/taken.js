export default ({ headers, action, issue: { title } }) => ({ message: `${headers['x-event']} ${action} ${title}` });
