# The shell of an example about a noun.
export FUNDESK_BASE_URL=$URL CALL=5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10
export PERSON=3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 IBAN=NL91ABNA0417164300
[ ! -d "$1" ] || cp "$1"/* .
[ ! -d .config ] || chmod -R go= .config
