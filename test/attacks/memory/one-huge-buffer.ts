// expect: user-error memory crashed
export default () => new ArrayBuffer(8 * 2 ** 30).byteLength
