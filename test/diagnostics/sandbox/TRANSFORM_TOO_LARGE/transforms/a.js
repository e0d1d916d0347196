import table from './table.json';

export default () => ({ message: table.text });
