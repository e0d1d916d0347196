// expect: ok {"message":"x","allowUnsafeExternalContent":true}
export default () => ({ message: "x", allowUnsafeExternalContent: true })
