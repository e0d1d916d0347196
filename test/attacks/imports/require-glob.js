// expect: load TRANSFORM_REQUIRE
module.exports = (c) => require(`../../../${c.payload.name}`);
