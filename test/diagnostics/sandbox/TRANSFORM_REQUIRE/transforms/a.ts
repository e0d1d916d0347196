export default () => ({ message: require('./table.json').title });
