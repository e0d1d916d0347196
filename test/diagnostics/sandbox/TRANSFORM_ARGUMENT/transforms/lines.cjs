module.exports = (list) => list.names.join('\n');
