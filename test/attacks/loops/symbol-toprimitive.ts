// expect: timeout
export default () => String({ [Symbol.toPrimitive]() { for (;;); } })
