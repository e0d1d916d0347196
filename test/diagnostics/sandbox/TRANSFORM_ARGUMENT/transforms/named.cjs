const lines = require('./lines.cjs');

const shape = (payload) => {
  return { message: lines(payload.items) };
};

module.exports = shape;
